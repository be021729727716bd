/** The part of `DashboardApi` about signing in. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Account, changePassword } from "./OperatorsApi.ts"
import { error, MinRole, Name, OperatorSession, Password } from "./OperatorSession.ts"
import { maxLength } from "./PageConstants.ts"
import { NotSignedIn } from "./WebProblems.ts"

/** Whose link it is; null: of whoever chooses a name. Does not use it up. */
const link = HttpApiEndpoint.post("link", "/link", {
  payload: Schema.Struct({ code: Schema.String }),
  success: Schema.Struct({ name: Schema.NullOr(Schema.String) }),
  error,
})
/**
 * Uses up a sign-in link: gives the account a new password, and makes it where it does not exist. Sets the cookie. The
 * name counts where the link has none.
 */
const setUp = HttpApiEndpoint.post("setUp", "/set-up", {
  payload: Schema.Struct({ code: Schema.String, name: Name, password: Password }),
  success: Account,
  error,
})

const signIn = HttpApiEndpoint.post("signIn", "/sign-in", {
  // What no account has is not checked: to normalize a long name takes long.
  payload: Schema.Struct({
    name: Schema.String.check(Schema.isMaxLength(maxLength.name)),
    password: Schema.String.check(Schema.isMaxLength(maxLength.password)),
  }),
  success: Account,
  error: [...error, NotSignedIn],
})

export class DashboardSignIn extends HttpApiGroup.make("signIn").add(link, setUp, signIn) {}

const session = HttpApiEndpoint.get("session", "/session", { success: Account, error })
const signOut = HttpApiEndpoint.post("signOut", "/sign-out", { success: HttpApiSchema.NoContent, error }).annotate(
  MinRole,
  "viewer",
)

export class DashboardSession extends HttpApiGroup.make("session")
  .add(session, signOut, changePassword)
  .middleware(OperatorSession) {}
