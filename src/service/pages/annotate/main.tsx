/** Renders the annotation page in the browser. */
import { render } from "preact"
import { prepare } from "../shared/textClient.ts"
import { App } from "./App.tsx"

prepare()
const root = document.querySelector("#app")
if (root !== null) render(<App />, root)
