/** Defines flags of `run`, `submit`, and `collect`: when to stop, how long to wait, and when to print nothing. */
import { Flag } from "effect/cli"
import { defaultGrace } from "../../pipeline/Stop.ts"
import * as ExitStatus from "../output/ExitStatus.ts"
import { define, inGroup } from "./Definition.ts"
import { choice, duration, formatDuration, toggle } from "./Values.ts"

export const jobFlags = inGroup("JOB", {
  timeout: duration(
    "timeout",
    `Stop after this time, with exit status ${ExitStatus.waiting} if anything is left to do`,
    { default: "no limit" },
  ),
  grace: duration("grace", "Maximum time for requests to finish after a stop", {
    default: `${formatDuration(defaultGrace)} = request timeout + 5s`,
  }),
  lockWait: duration(
    "lock-wait",
    `Maximum time to wait for another run of the job, before exit with status ${ExitStatus.busy}`,
    { default: "0s" },
  ),
  waitingOk: toggle(
    "waiting-ok",
    `Exit with status ${ExitStatus.done} instead of ${ExitStatus.waiting} if some results have not arrived yet`,
  ),
  quiet: toggle("quiet", "Print nothing unless the command fails").pipe(
    Flag.withAlias("q"),
    define({ isSwitch: true }),
  ),
})

export const recheckCompleted = choice(
  "recheck-completed",
  "Poll completed tasks again, in case the service changed their results",
)

export const once = choice("once", "Don't wait: poll each outstanding task once", {
  group: "JOB",
  isEssential: true,
  replaces: ["WEBHOOK"],
})
