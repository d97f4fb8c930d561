// Made of src/ by bundle.js.
function o({parentElement:t}){if(t.host.__done)return;t.host.__done=!0;let n=l=>{let e=t.host.closest('[role="dialog"]')?.querySelector("input");e&&(e.focus(),e.setSelectionRange(e.value.length,e.value.length)),l&&document.activeElement!==e&&setTimeout(()=>n(l-1),30)};n(10)}export{o as default};
