// Made of src/ by bundle.js.
function l({parentElement:t}){if(t.host.__done)return;t.host.__done=!0;let n=o=>{let e=t.host.closest('[role="dialog"]')?.querySelector("input");e&&(e.focus(),e.setSelectionRange(e.value.length,e.value.length)),o&&document.activeElement!==e&&setTimeout(()=>n(o-1),30)};n(10)}export{l as default};
