/** Explains how to send the first task, as long as there are no tasks. */
import { curlLines, exportLines, runLines } from "./firstTask.ts"
import { Lines } from "./Copy.tsx"
import { href } from "./routes.ts"

export const FirstTask = () => (
  <section class="card padded stack first-task" aria-labelledby="first-task">
    <h2 id="first-task">No tasks yet</h2>
    <p>
      Tasks come from a pipeline, over HTTP. They appear here as soon as they are sent, and go to the{" "}
      <a href={href("experts")}>experts</a> that you invite.
    </p>
    <ol class="stack steps">
      <li>
        <h3>Set the address and a token</h3>
        <p>
          Create an organization token under <a href={href("developer")}>Developer</a>, and put it in place of the dots.
        </p>
        <Lines what="Environment" text={exportLines(location.origin)} />
      </li>
      <li>
        <h3>Send a task</h3>
        <p>
          By hand, to see one here; the <a href="/v1/docs">interface’s documentation</a> has all the rest.
        </p>
        <Lines what="Command with curl" text={curlLines} />
      </li>
      <li>
        <h3>Or run a pipeline</h3>
        <p>It reads a file of prompts and completions, sends them, waits, and writes the dataset.</p>
        <Lines what="Command with prefstream" text={runLines(location.origin)} />
      </li>
    </ol>
  </section>
)
