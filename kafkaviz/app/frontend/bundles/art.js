// Made of src/ by bundle.js.
var o=(t,e,i)=>{for(let r in e)e[r]!=null&&t.setAttribute(r,e[r]);for(let r of i.flat())r!=null&&t.append(r);return t};var n=(t,e={},...i)=>o(document.createElement(t),e,i);function d({parentElement:t,data:e}){let i=t.querySelector(".art")??t.appendChild(n("div",{class:"art"}));i.innerHTML=e.svg}export{d as default};
