// Made of src/ by bundle.js.
var i=(t,e,o)=>{for(let r in e)e[r]!=null&&t.setAttribute(r,e[r]);for(let r of o.flat())r!=null&&t.append(r);return t};var n=(t,e={},...o)=>i(document.createElement(t),e,o);function d({parentElement:t,data:e}){let o=t.querySelector(".art")??t.appendChild(n("div",{class:"art"}));o.innerHTML=e.svg}export{d as default};
