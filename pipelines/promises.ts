/**
 * Runs a pipeline from a program that does not use Effect: records from an async generator, an expert that is a
 * function, and a promise of the report. Ctrl-C stops it; the next start continues from there.
 *
 *     npx node pipelines/promises.ts
 */
import { read, run } from "prefstream/promises"

async function* records() {
  for (let n = 1; n <= 20; n++)
    yield { id: n, question: `What is ${n} times ${n}?`, good: `${n * n}`, bad: `${n + n}.` }
}

const stop = new AbortController()
process.once("SIGINT", () => stop.abort(new Error("stopped")))

try {
  const report = await run(
    {
      directory: "promises",
      source: records(),
      input: { name: "squares", layout: "wide", prompt: "question", completions: ["good", "bad"] },
      service: {
        experts: [
          {
            name: "arithmetic",
            judge: ({ completions }) => {
              const best = completions.findIndex((completion) => /^\d+$/.test(completion))
              return best === -1 ? null : { best_completion_index: best, rationale: "A number, and nothing else." }
            },
          },
        ],
      },
    },
    { signal: stop.signal },
  )
  let numbers = 0
  for await (const { chosen } of read("promises/dataset")) if (/^\d+$/.test(chosen)) numbers++
  process.stdout.write(`${report.status}: ${report.dataset?.rows ?? 0} pairs, ${numbers} with a number chosen\n`)
} catch (failure) {
  process.stderr.write(`${failure instanceof Error ? failure.message : String(failure)}\n`)
  process.exitCode = 1
}
