/** Renders the annotation page in the browser. */
import { render } from "preact"
import { App } from "./App.tsx"

const root = document.querySelector("#app")
if (root !== null) render(<App />, root)
