// Made of src/ by bundle.js.
var o=(t,e,n)=>{for(let r in e)e[r]!=null&&t.setAttribute(r,e[r]);for(let r of n.flat())r!=null&&t.append(r);return t};var i=(t,e={},...n)=>o(document.createElement(t),e,n);function d({parentElement:t,data:e}){let n=t.querySelector(".art")??t.appendChild(i("div",{class:"art"}));n.innerHTML=e.svg}export{d as default};
