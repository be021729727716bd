/**
 * Writes a file of generated items, for benchmarks: `node test/bench/generate.ts N FILE`.
 * Prompts and completions are made of numbered words, so that every item is different
 * and compresses like text; about 700 bytes an item.
 */
import { congruential, writeLines } from "./setup.ts"

const words =
  "the of and to in is you that it he was for on are as with his they at be this have from or one had by word but not what all were we when your can said there use an each which she do how their if will up other about out many then them these so some her would make like him into time has look two more write go see number no way could people my than first water been call who oil its now find long down day did get come made may part".split(
    " ",
  )

const next = congruential(42)
const text = (length: number) => Array.from({ length }, () => words[next() % words.length]).join(" ")

const [count = "1000", file = "items.jsonl"] = process.argv.slice(2)
await writeLines(file, Number(count), (i) =>
  JSON.stringify({ prompt: `${i}: ${text(30)}?`, completions: [text(40), text(60)], metadata: { ordinal: i } }),
)
