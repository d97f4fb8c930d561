// Made of src/ by bundle.js.
function r({data:{chosen:a}}){let e=new URL(location.href);for(let t in a)a[t]===null?e.searchParams.delete(t):e.searchParams.set(t,a[t]);e.href!==location.href&&history.replaceState(history.state,"",e)}export{r as default};
