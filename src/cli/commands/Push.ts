/** `prefstream push` takes the access token from HF_TOKEN, or else from the file that `hf auth login` writes. */
import { Console, Effect } from "effect"
import { Argument, Flag } from "effect/cli"
import * as Dataset from "../../dataset/Dataset.ts"
import * as Hub from "../../io/Hub.ts"
import { count } from "../../io/Values.ts"
import { makeCommand } from "../flags/Definition.ts"
import { ledgerFlags } from "../flags/LedgerFlags.ts"
import { required, text, toggle } from "../flags/Values.ts"
import { usageError } from "../output/ExitStatus.ts"
import { printable, size } from "../output/Text.ts"

const directory = Argument.Directory("DIR", { mustExist: true }).pipe(
  Argument.withDescription("Dataset folder, such as week-48/dataset"),
)

const repo = required(Flag.String("repo"), "USER/NAME", "Dataset repository, created if missing [token: HF_TOKEN]")

const token = Effect.gen(function* () {
  const storedToken = yield* Hub.token
  if (storedToken === undefined)
    return yield* usageError("no access token for the Hugging Face Hub: set HF_TOKEN, or log in with hf auth login")
  return storedToken
})

const sources: { readonly [option: string]: string } = {
  repository: "--repo",
  token: "HF_TOKEN",
  endpoint: "HF_ENDPOINT",
}

const textOf = ({ branch, bytes, commit, deleted, files, repository, rows, url, unchanged }: Dataset.Pushed) => {
  const where = `${repository}${branch === "main" ? "" : ` (${branch})`}`
  const what = `${count(rows, "pair")} in ${count(files, "file")}, ${size(bytes)}`
  const gone = deleted.length === 0 ? "" : `; ${count(deleted.length, "earlier file")} deleted`
  return unchanged
    ? `${where} already has this dataset: ${what}.\n${url}`
    : `Pushed to ${where}, commit ${commit.slice(0, 12)}: ${what}${gone}.\n${url}`
}

export const command = makeCommand(
  "push",
  "Verify a dataset, and push it to a dataset repository on the Hugging Face Hub in one commit. " +
    "A later push replaces the earlier dataset, and does not upload large files that the Hub already has. " +
    "Requires the Hub's client: npm install @huggingface/hub.",
  {
    directory,
    repo,
    branch: text("branch", "NAME", "Branch, created if missing", { default: "main" }),
    public: toggle("public", "Make the repository public if this command creates it", { default: "private" }),
    expertNames: toggle("expert-names", "Allow a dataset that contains experts' names", { default: "refuse it" }),
    json: ledgerFlags.json,
  },
  Effect.fn("prefstream push")(function* (flags) {
    const pushed = yield* Dataset.push(flags.directory, {
      repository: flags.repo,
      token: yield* token,
      branch: flags.branch,
      public: flags.public,
      expertNames: flags.expertNames,
      endpoint: yield* Hub.endpoint,
    }).pipe(
      Effect.catchReason("PushError", "PushOptionInvalid", ({ expected, option }) =>
        usageError(`${sources[option] ?? option}: expected ${expected}`),
      ),
    )
    yield* Console.log(flags.json ? JSON.stringify(pushed) : printable(textOf(pushed)))
  }),
  { "prefstream push week-48/dataset --repo user/preferences": "Push to a private repository" },
)
