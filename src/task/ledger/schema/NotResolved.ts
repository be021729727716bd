/** Why a decision about a stuck task could not be recorded; nothing was. */
import { Schema } from "effect"
import { TaskState } from "./Model.ts"

/** The ledger has no such task. */
export class NoSuchTask extends Schema.TaggedError<NoSuchTask>()("NoSuchTask", {
  /** As in `resolve`: one-based, in the order of planning. */
  number: Schema.Int,
}) {
  override get message() {
    return `the ledger has no task ${this.number}`
  }
}

/** A task's state does not allow what was decided about it. */
export class NotResolvable extends Schema.TaggedError<NotResolvable>()("NotResolvable", {
  /** One-based, as in `resolve`. */
  number: Schema.Int,
  /** The state that it is in. */
  state: TaskState,
  /** What was decided. */
  verb: Schema.Literals(["adopt", "send again", "give up"]),
}) {
  override get message() {
    const why = this.state === "completed" ? "its result is here" : `it is ${this.state.replace("_", " ")}`
    return `cannot ${this.verb} task ${this.number}: ${why}`
  }
}

/** Another task of the ledger is known by that id at the service, or was. */
export class TaskIdTaken extends Schema.TaggedError<TaskIdTaken>()("TaskIdTaken", {
  /** The id at the service. */
  taskId: Schema.String,
  /** The task that has it: one-based, as in `resolve`. */
  number: Schema.Int,
}) {
  override get message() {
    return `${this.taskId} is task ${this.number} already`
  }
}
