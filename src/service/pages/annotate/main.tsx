import { render } from "preact"

render(<p>Annotation</p>, document.querySelector("#app")!)
