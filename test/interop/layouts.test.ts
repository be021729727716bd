/**
 * The public data sets through the command line alone, in every layout and format: the prompt items are
 * the same, by the hashes of their contents, which are computed here from the files by other means.
 */
import { createHash, randomInt } from "node:crypto"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { allCases } from "../support/cases.ts"
import { cli, quick, to } from "../support/cli.ts"
import * as Convert from "../support/convert.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { spawned } from "../support/process.ts"
import { prefstream } from "../support/program.ts"
import * as ScriptedService from "../support/ScriptedService.ts"
import { sharedData } from "../support/sharedData.ts"

interface Item {
  readonly id?: string
  readonly prompt: string
  readonly completions: ReadonlyArray<string>
  readonly models: ReadonlyArray<string>
}

interface DataSet {
  readonly name: string
  /** What the command line gets for the files as they are published. */
  readonly published: (folder: string) => ReadonlyArray<string>
  /** The same items, read by other means. */
  readonly items: (folder: string) => ReadonlyArray<Item>
}

// oxlint-disable-next-line typescript/no-explicit-any -- what is known of the files stands in the functions below
type Line = { readonly [member: string]: any }

const lines = (file: string): ReadonlyArray<Line> =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))

const joined = (
  prompts: ReadonlyArray<Line>,
  models: ReadonlyArray<readonly [name: string, rows: ReadonlyArray<Line>]>,
  read: { key: (row: Line) => string; prompt: (row: Line) => string; completion: (row: Line) => string },
): ReadonlyArray<Item> => {
  const byKey = models.map(
    ([name, rows]) => [name, new Map(rows.map((row) => [read.key(row), read.completion(row)]))] as const,
  )
  return prompts.map((row) => ({
    prompt: read.prompt(row),
    completions: byKey.map(([, rows]) => rows.get(read.key(row))!),
    models: models.map(([name]) => name),
  }))
}

const arenaModels = ["gpt-3.5-turbo-0125", "gpt-4-0314", "gpt-4-0613"]
const instructModels = ["davinci-self-instruct", "text-davinci-001", "text-davinci-002", "text-davinci-003"]
const barFiles = ["natural", "adversarial-manual", "adversarial-neighbor"]

const dataSets: ReadonlyArray<DataSet> = [
  {
    name: "arena-hard",
    published: (folder) => [
      `${folder}/question.jsonl`,
      ...arenaModels.flatMap((model) => ["--completions", `${folder}/answers/${model}.jsonl`]),
      "--key=question_id",
      "--prompt-path=turns[0].content",
      "--completion-path=choices[0].turns[0].content",
    ],
    items: (folder) =>
      joined(
        lines(`${folder}/question.jsonl`),
        arenaModels.map((model) => [model, lines(`${folder}/answers/${model}.jsonl`)]),
        {
          key: (row) => row["question_id"],
          prompt: (row) => row["turns"][0].content,
          completion: (row) => row["choices"][0].turns[0].content,
        },
      ),
  },
  {
    name: "self-instruct",
    published: (folder) => [
      `${folder}/${instructModels[0]}.jsonl`,
      ...instructModels.flatMap((model) => ["--completions", `${folder}/${model}.jsonl`]),
      "--key=prompt",
      "--completion-path=response",
    ],
    items: (folder) => {
      const models = instructModels.map((model) => [model, lines(`${folder}/${model}.jsonl`)] as const)
      const read = {
        key: (row: Line) => row["prompt"],
        prompt: (row: Line) => row["prompt"],
        completion: (row: Line) => row["response"],
      }
      return joined(models[0]![1], models, read)
    },
  },
  {
    name: "llmbar",
    published: (folder) => barFiles.map((file) => `${folder}/${file}.json`),
    items: (folder) =>
      barFiles
        .flatMap((file): ReadonlyArray<Line> => JSON.parse(readFileSync(`${folder}/${file}.json`, "utf8")))
        .map((row) => ({
          prompt: row["input"],
          completions: [row["output_1"], row["output_2"]],
          models: ["output_1", "output_2"],
        })),
  },
]

/** Of what can be judged: completions that are not all alike, none of them blank. The order counts for nothing. */
const hashesOf = (items: ReadonlyArray<Item>): ReadonlyArray<string> => {
  const judgeable = items.filter(
    ({ completions }) => new Set(completions).size > 1 && completions.every((text) => text.trim() !== ""),
  )
  return [
    ...new Set(
      judgeable.map(({ completions, prompt }) =>
        createHash("sha256").update(JSON.stringify({ prompt, completions })).digest("hex"),
      ),
    ),
  ].toSorted()
}

/** Those of the items that the ledger of a job has. */
const hashesIn = (job: string): ReadonlyArray<string> => {
  const database = new DatabaseSync(`${job}/ledger.db`, { readOnly: true })
  const rows = database.prepare("SELECT COALESCE(content_hash, item_id) AS hash FROM item").all()
  database.close()
  return rows.map(({ hash }) => String(hash)).toSorted()
}

const asItems = (items: ReadonlyArray<Item>): Convert.Table =>
  items.map(({ completions, models, prompt }) => ({ prompt, completions, models }))

const asWide = (items: ReadonlyArray<Item>): Convert.Table =>
  items.map(({ completions, prompt }) => ({
    prompt,
    ...Object.fromEntries(completions.map((completion, i) => [`response_${"abcd"[i]}`, completion])),
  }))

const asLong = (items: ReadonlyArray<Item>): Convert.Table =>
  items.flatMap(({ completions, models, prompt }, i) =>
    completions.map((response, k) => ({ prompt_id: `p${i}`, prompt, model: models[k]!, response })),
  )

/** All first completions, then all second ones, and so on: the prompts in another order each time, as shuffled by a multiplication. */
const scattered = (items: ReadonlyArray<Item>): Convert.Table => {
  const long = items.map((item) => asLong([item]))
  const width = items[0]!.completions.length
  return Array.from({ length: width }, (_, k) =>
    long.map((_, i) => ({
      ...long[(i * 101 + k * 7) % long.length]![k]!,
      prompt_id: `p${(i * 101 + k * 7) % long.length}`,
    })),
  ).flat()
}

const asConversations = (items: ReadonlyArray<Item>) =>
  items.flatMap(({ completions, models, prompt }, i) =>
    completions.map((content, k) => ({
      prompt_id: `p${i}`,
      model: models[k],
      messages: [
        { role: "user", content: prompt },
        { role: "assistant", content },
      ],
    })),
  )

const { br, gz, zst } = Convert.compressions

type Variant = (items: ReadonlyArray<Item>, folder: string) => Promise<Record<string, string | Uint8Array>>

/** Each gives the files that the command line is given, all of them. */
const variants: Record<string, Variant> = {
  "items.jsonl": async (items) => ({ "items.jsonl": Convert.jsonl(asItems(items)) }),
  "items.jsonl with CR LF and a byte order mark": async (items) => ({
    "items.jsonl": `\uFEFF${Convert.jsonl(asItems(items)).replaceAll("\n", "\r\n")}`,
  }),
  "a JSON array, indented": async (items) => ({ "items.json": Convert.json(asItems(items)) }),
  "a JSON array in one line": async (items) => ({ "items.json": Convert.json(asItems(items), 0) }),
  "items.csv, lists as JSON": async (items) => ({ "items.csv": Convert.csv(asItems(items)) }),
  "items.parquet": async (items) => ({ "items.parquet": Convert.parquet(asItems(items)) }),
  "items.parquet by DuckDB, snappy": async (items, folder) => ({
    "items.parquet": await Convert.parquetByDuckDb(asItems(items), folder, "snappy"),
  }),
  "items.jsonl.gz": async (items) => ({ "items.jsonl.gz": gz(Convert.jsonl(asItems(items))) }),
  "items.jsonl.zst": async (items) => ({ "items.jsonl.zst": zst(Convert.jsonl(asItems(items))) }),
  "items.jsonl.br": async (items) => ({ "items.jsonl.br": br(Convert.jsonl(asItems(items))) }),
  "gzip under a name that does not say so": async (items) => ({ "items.jsonl": gz(Convert.jsonl(asItems(items))) }),
  "items.json.zst": async (items) => ({ "items.json.zst": zst(Convert.json(asItems(items))) }),
  "items.parquet.gz": async (items) => ({ "items.parquet.gz": gz(Convert.parquet(asItems(items))) }),
  "wide.jsonl": async (items) => ({ "wide.jsonl": Convert.jsonl(asWide(items)) }),
  "wide.csv": async (items) => ({ "wide.csv": Convert.csv(asWide(items)) }),
  "wide.csv with semicolons, gzip": async (items) => ({ "wide.csv.gz": gz(Convert.csv(asWide(items), ";")) }),
  "wide.tsv": async (items) => ({ "wide.tsv": Convert.csv(asWide(items), "\t") }),
  "wide.parquet": async (items) => ({ "wide.parquet": Convert.parquet(asWide(items)) }),
  "wide.parquet by DuckDB, zstd": async (items, folder) => ({
    "wide.parquet": await Convert.parquetByDuckDb(asWide(items), folder),
  }),
  "long.jsonl": async (items) => ({ "long.jsonl": Convert.jsonl(asLong(items)) }),
  "long.csv": async (items) => ({ "long.csv": Convert.csv(asLong(items)) }),
  "long.parquet": async (items) => ({ "long.parquet": Convert.parquet(asLong(items), 37) }),
  "long.jsonl.zst, unsorted": async (items) => ({ "long.jsonl.zst": zst(Convert.jsonl(scattered(items))) }),
  "long.csv, unsorted": async (items) => ({ "long.csv": Convert.csv(scattered(items)) }),
  "a long file for each model": async (items) => {
    const { length } = items[0]!.completions
    const rows = asLong(items)
    return Object.fromEntries(
      Array.from({ length }, (_, k) => [`${k}.jsonl`, Convert.jsonl(rows.filter((_, i) => i % length === k))]),
    )
  },
  "several formats at once": async (items) => ({
    "0.csv": Convert.csv(asItems(items.slice(0, 50))),
    "1.json": Convert.json(asItems(items.slice(50, 100))),
    "2.parquet": Convert.parquet(asItems(items.slice(100, 150))),
    "3.jsonl.gz": gz(Convert.jsonl(asItems(items.slice(150)))),
  }),
}

/** `cat FILE | prefstream ARGS` */
const piped = (file: string, args: ReadonlyArray<string>, env: Record<string, string>) => {
  const command = [...prefstream, ...args]
  return spawned("sh", ["-c", 'input=$1; shift; cat "$input" | "$@"', "sh", file, ...command], { env }).ended
}

const half = randomInt(2)
const chosen = randomInt(dataSets.length)

for (const [n, { items: itemsOf, name, published }] of dataSets.entries()) {
  const folder = sharedData(name)
  const files = folder ?? ""
  // By default, each variant has one of the data sets, half of the variants are tried, and what follows them has one data set.
  const variantsOf = Object.entries(variants).filter((_, i) => allCases || (i % 3 === n && i % 2 === half))

  let read: ReadonlyArray<Item> | undefined
  const items = () => (read ??= itemsOf(files))

  /** Submits what the arguments name to a service that takes everything; gives the ledger's hashes. */
  const submitted = Effect.fnUntraced(function* (args: ReadonlyArray<string>) {
    const job = yield* temporaryDirectory
    const service = yield* ScriptedService.make(ScriptedService.obliging)
    const said = yield* cli(["submit", ...args, "--dir", job, "--batch-size", "100", "--json", ...quick], to(service))
    assert.strictEqual(said.status, 0, said.stderr)
    const report = JSON.parse(said.stdout)
    assert.strictEqual(report.read, report.submitted + report.duplicates + report.rejected, said.stdout)
    return hashesIn(job)
  })

  describe.skipIf(folder === undefined)(`${name} through the command line (needs the public data)`, () => {
    test("as it is published", function* () {
      const hashes = hashesOf(items())
      assert.isAbove(hashes.length, 200)
      assert.deepStrictEqual(yield* submitted(published(files)), hashes)
    })

    for (const [variant, write] of variantsOf) {
      test(variant, () =>
        Effect.gen(function* () {
          const directory = yield* temporaryDirectory
          const written = yield* Effect.promise(() => write(items(), directory))
          const names = Object.entries(written).map(([file, content]) => {
            writeFileSync(`${directory}/${file}`, content)
            return `${directory}/${file}`
          })
          assert.deepStrictEqual(yield* submitted(names), hashesOf(items()))
        }),
      )
    }

    if (!allCases && n !== chosen) return

    test("a folder of files", function* () {
      const directory = yield* temporaryDirectory
      mkdirSync(`${directory}/in`)
      for (let i = 0; i < items().length; i += 50) {
        writeFileSync(`${directory}/in/${i}.jsonl`, Convert.jsonl(asItems(items().slice(i, i + 50))))
      }
      assert.deepStrictEqual(yield* submitted([`${directory}/in`]), hashesOf(items()))
    })

    test("conversations of one question: the same answers to the same questions", function* () {
      const directory = yield* temporaryDirectory
      writeFileSync(`${directory}/chat.jsonl`, Convert.jsonl(asConversations(items())))
      const rendered = items().map((item) => ({ ...item, prompt: `[user]\n${escaped(item.prompt)}` }))
      assert.deepStrictEqual(yield* submitted([`${directory}/chat.jsonl`]), hashesOf(rendered))
    })

    test("from standard input, of a process of its own", function* () {
      const directory = yield* temporaryDirectory
      const service = yield* ScriptedService.make(ScriptedService.obliging)
      writeFileSync(`${directory}/wide.csv.gz`, gz(Convert.csv(asWide(items()))))
      const said = yield* Effect.promise(() =>
        piped(`${directory}/wide.csv.gz`, ["submit", "-", "--dir", directory, ...quick], to(service)),
      )
      assert.strictEqual(said.status, 0, said.stderr)
      assert.deepStrictEqual(hashesIn(directory), hashesOf(items()))
    })
  })
}

/** A line in brackets after an empty line would be taken for the next message's header. */
const escaped = (text: string): string =>
  text
    .split("\n")
    .map((line, i, lines) => (lines[i - 1] === "" && /^\\*\[.*\]$/.test(line) ? `\\${line}` : line))
    .join("\n")
