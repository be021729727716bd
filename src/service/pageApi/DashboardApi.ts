/**
 * The `HttpApi` of the dashboard, which is not part of the contract. Times are epoch milliseconds. Lists are newest
 * first. To get the next page, pass `next` as `before`. A secret is only in the response that created the secret.
 */
import { HttpApi } from "effect/http-api"
import { DashboardAudit } from "./AuditApi.ts"
import { DashboardExperts } from "./ExpertsApi.ts"
import { DashboardGroups } from "./GroupsApi.ts"
import { DashboardItems } from "./ItemsApi.ts"
import { DashboardOperators } from "./OperatorsApi.ts"
import { DashboardOverview } from "./OverviewApi.ts"
import { DashboardQualification } from "./QualificationApi.ts"
import { DashboardSession, DashboardSignIn } from "./SessionApi.ts"
import { DashboardTasks } from "./TasksApi.ts"
import { DashboardTokens } from "./TokensApi.ts"
import { DashboardWebhook } from "./WebhookApi.ts"

export class DashboardApi extends HttpApi.make("dashboard")
  .add(DashboardSignIn, DashboardSession, DashboardTasks, DashboardTokens, DashboardWebhook, DashboardExperts)
  .add(DashboardOperators, DashboardAudit, DashboardGroups, DashboardItems, DashboardQualification, DashboardOverview)
  .prefix("/dashboard/api") {}
