/** Explains how to send the first task. The dashboard shows this while there are no tasks. */
import { curlLines, exportLines, runLines } from "./firstTask.ts"
import { Lines } from "./Copy.tsx"
import { href } from "./routes.ts"

export const FirstTask = () => (
  <section class="card padded stack first-task" aria-labelledby="first-task">
    <h2 id="first-task">No tasks yet</h2>
    <p>
      Pipelines send tasks over HTTP. Tasks appear here as soon as they arrive, and go to the{" "}
      <a href={href("experts")}>experts</a> that you invite.
    </p>
    <ol class="stack steps">
      <li>
        <h3>Set the address and a token</h3>
        <p>
          Create an organization token under <a href={href("developer")}>Developer</a>, and replace the dots with the
          token.
        </p>
        <Lines what="Environment" text={exportLines(location.origin)} />
      </li>
      <li>
        <h3>Send a task</h3>
        <p>
          Send a task by hand to see it here. For everything else, see the <a href="/v1/docs">API documentation</a>.
        </p>
        <Lines what="Command with curl" text={curlLines} />
      </li>
      <li>
        <h3>Or run a pipeline</h3>
        <p>
          A pipeline reads a file of prompts and completions, sends tasks, waits for the results, and writes the
          dataset.
        </p>
        <Lines what="Command with prefstream" text={runLines(location.origin)} />
      </li>
    </ol>
  </section>
)
