/** A thread that encodes row groups. */
import * as WorkerThreads from "../../node/WorkerThreads.ts"
import * as RowGroup from "./RowGroup.ts"

WorkerThreads.serve(RowGroup.encode, ({ bytes }) => [bytes.buffer])
