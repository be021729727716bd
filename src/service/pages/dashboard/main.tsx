import { render } from "preact"

render(<p>Dashboard</p>, document.querySelector("#app")!)
