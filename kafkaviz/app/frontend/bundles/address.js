// Made of src/ by bundle.js.
function a(e){let t=new URL(location.href);for(let r in e)e[r]===null?t.searchParams.delete(r):t.searchParams.set(r,e[r]);t.href!==location.href&&history.replaceState(history.state,"",t)}function n({data:{chosen:e}}){a(e)}export{n as default};
