/** Reads a source into the ledger, and submits what is new; the ledger remembers which files were read to their end. */
import { Effect, Option } from "effect"
import type { InputFile } from "../domain/InputFile.ts"
import { InputAudit } from "../source/place/InputAudit.ts"
import type { Source } from "../source/Source.ts"
import { Ledger } from "../task/ledger/Ledger.ts"
import { submit } from "../task/Submit.ts"

export const readAndSubmit = (settings: Parameters<typeof submit>[1] & { readonly source: Source }) =>
  Effect.suspend(() => {
    const files: Array<InputFile> = []
    const remember = Ledger.use((ledger) =>
      Effect.flatMap(
        ledger.newestRun,
        Option.match({ onNone: () => Effect.void, onSome: (run) => ledger.recordInputs(run, files) }),
      ),
    )
    return submit(settings.source.records, settings).pipe(
      Effect.provideService(InputAudit, (file) => void files.push(file)),
      Effect.ensuring(Effect.ignore(remember)),
    )
  })
