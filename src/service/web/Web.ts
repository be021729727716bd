/** Routes of the pages. `Csrf` checks all API requests. People join and sign in without a session. */
import { Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Accounts } from "../account/Accounts.ts"
import { AnnotateApi } from "../pageApi/AnnotateApi.ts"
import * as AnnotateHandlers from "./AnnotateHandlers.ts"
import * as AuditHandlers from "./AuditHandlers.ts"
import * as Csrf from "./Csrf.ts"
import * as DashboardHandlers from "./DashboardHandlers.ts"
import { DashboardApi } from "../pageApi/DashboardApi.ts"
import * as ExpertsHandlers from "./ExpertsHandlers.ts"
import { OneTimeCodes } from "../account/OneTimeCodes.ts"
import { Operators } from "../account/Operators.ts"
import * as Pages from "./Pages.ts"
import * as SignInGuard from "./SignInGuard.ts"
import * as SessionHandlers from "./SessionHandlers.ts"
import { Sessions } from "../account/Sessions.ts"
import * as TasksHandlers from "./TasksHandlers.ts"

export const accounts = Layer.merge(Accounts.layer, Operators.layer).pipe(
  Layer.provideMerge(Layer.merge(OneTimeCodes.layer, Sessions.layer)),
)

const handlers = Layer.mergeAll(
  AnnotateHandlers.layer,
  AuditHandlers.layer,
  DashboardHandlers.layer,
  ExpertsHandlers.layer,
  SessionHandlers.layer,
  TasksHandlers.layer,
)

export const layer = Layer.merge(
  Pages.layer,
  Layer.merge(HttpApiBuilder.layer(AnnotateApi), HttpApiBuilder.layer(DashboardApi)).pipe(
    Layer.provide(Csrf.middleware.layer),
    Layer.provide(handlers),
    Layer.provide(SignInGuard.layer),
  ),
)
