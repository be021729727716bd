/** `prefstream evaluate` compares the scores of a reward model with the preferences in a dataset. */
import { Config, Console, Effect, FileSystem, Option, Schema } from "effect"
import { Argument, Flag } from "effect/cli"
import * as ReportPage from "../../dataset/ReportPage.ts"
import { Split } from "../../domain/Split.ts"
import type { QualityReport } from "../../domain/QualityReport.ts"
import { count } from "../../io/Values.ts"
import * as DatasetPlace from "../../pipeline/DatasetPlace.ts"
import { evaluate } from "../../pipeline/Evaluate.ts"
import * as ScoreEndpoint from "../../pipeline/evaluation/ScoreEndpoint.ts"
import { makeCommand } from "../flags/Definition.ts"
import { ledgerFlags } from "../flags/LedgerFlags.ts"
import { literals, required, text } from "../flags/Values.ts"
import * as EvaluationTable from "../output/EvaluationTable.ts"
import * as ExitStatus from "../output/ExitStatus.ts"
import { printable, say } from "../output/Text.ts"

const directory = Argument.Directory("DIR", { mustExist: true }).pipe(
  Argument.withDescription("Dataset folder, such as week-48/dataset, or a job's folder"),
)

const decodeReport = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ format: Schema.Literal("prefstream-report") })),
)

const writeReport = Effect.fnUntraced(function* (
  directory: string,
  target: string,
  evaluation: QualityReport["evaluation"],
) {
  const fs = yield* FileSystem.FileSystem
  const source = `${directory}/report.json`
  const json = yield* Effect.orElseSucceed(fs.readFileString(source), () => "")
  if (Option.isNone(decodeReport(json))) return yield* ExitStatus.usageError(`--report: ${source} is not a report`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the page shows a report, whose digest is checked
  const report = JSON.parse(json) as QualityReport
  yield* fs.writeFileString(target, yield* ReportPage.render({ ...report, ...(evaluation && { evaluation }) }))
})

export const command = makeCommand(
  "evaluate",
  "Compare a reward model's scores with the preferences in a dataset. Shows the calibration of the scores. Shows their accuracy, with intervals, on all pairs, on pairs of similar length, and on pairs grouped by models, strength, agreement, and metadata. " +
    "For comparison, also shows the accuracy of always choosing the longer completion, and how often two people agree.",
  {
    directory,
    scores: required(
      Flag.String("scores"),
      "FILE|URL",
      "File of scores by item or pair, or a model's URL, which ends with /pooling, /score, or /predict",
    ),
    model: text("model", "NAME", "Name of the model at the --scores URL [API key: PREFSTREAM_SCORES_API_KEY]"),
    split: literals(
      "split",
      Split.literals,
      "Dataset split to read; required if the scores lack item_id and the dataset has several splits",
      {
        metavar: "SPLIT",
        default: "all",
      },
    ),
    by: text("by", "FIELD", "Also show accuracy for each value of this metadata field, at most 100 values"),
    disputed: text(
      "disputed",
      "FILE",
      "Write items whose rejected completion has the higher score to FILE, as input of prefstream run",
    ),
    report: text("report", "FILE", "Write the dataset's report, with a section about the scores, to FILE"),
    json: ledgerFlags.json,
  },
  Effect.fn("prefstream evaluate")(function* (flags) {
    const { by, disputed, model, report, split } = flags
    const isEndpoint = ScoreEndpoint.formOf(flags.scores) !== undefined
    if (model !== undefined && !isEndpoint) {
      return yield* ExitStatus.usageError(`--model requires --scores with ${ScoreEndpoint.urlForm}`)
    }
    const apiKey = Option.getOrUndefined(yield* Config.option(Config.Redacted("PREFSTREAM_SCORES_API_KEY")))
    const scores = isEndpoint ? { url: flags.scores, model, apiKey } : flags.scores
    const evaluation = yield* evaluate(flags.directory, { scores, split, by, disputed }).pipe(
      Effect.catchTag("GroupsInvalid", ({ message }) => ExitStatus.usageError(`--by ${message}`)),
    )
    yield* Console.log(flags.json ? JSON.stringify(evaluation) : printable(EvaluationTable.text(evaluation)))
    if (disputed !== undefined) {
      const { items, with_tools } = evaluation.disputed
      const leftOut = with_tools === 0 ? "" : `; without ${count(with_tools, "item")} with tools`
      yield* say(`${count(items - with_tools, "item")} on which scores and experts differ: ${disputed}${leftOut}`)
    }
    if (report !== undefined) {
      const { directory } = yield* DatasetPlace.locate(flags.directory)
      yield* writeReport(directory, report, evaluation)
    }
  }),
  {
    "prefstream evaluate week-48/dataset --scores scores.jsonl --split test":
      "Evaluate the scores in a file on the pairs of the test split",
    "prefstream evaluate week-48/dataset --scores http://127.0.0.1:8000/pooling --model my-reward --disputed next.jsonl":
      "Get scores from a model that vLLM serves, and write items for the next campaign",
  },
)
