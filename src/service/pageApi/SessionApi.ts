/** The part of `DashboardApi` about signing in and out, and changing the password. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Account, changePassword } from "./OperatorsApi.ts"
import { error, MinRole, Name, OperatorSession, Password } from "./OperatorSession.ts"
import { maxLength } from "./PageConstants.ts"

/** Returns the name of the link's account, or null if the user can choose the name. The link stays valid. */
const link = HttpApiEndpoint.post("link", "/link", {
  payload: Schema.Struct({ code: Schema.String }),
  success: Schema.Struct({ name: Schema.NullOr(Schema.String) }),
  error,
})
/** Uses up a sign-in link, and sets the password. If the link names no account, `name` selects or creates one. */
const setUp = HttpApiEndpoint.post("setUp", "/set-up", {
  payload: Schema.Struct({ code: Schema.String, name: Name, password: Password }),
  success: Account,
  error,
})

const signIn = HttpApiEndpoint.post("signIn", "/sign-in", {
  // Names and passwords of accounts have these limits. A longer text is refused before it is normalized, to save time.
  payload: Schema.Struct({
    name: Schema.String.check(Schema.isMaxLength(maxLength.name)),
    password: Schema.String.check(Schema.isMaxLength(maxLength.password)),
  }),
  success: Account,
  error,
})

export class DashboardSignIn extends HttpApiGroup.make("signIn").add(link, setUp, signIn) {}

const session = HttpApiEndpoint.get("session", "/session", { success: Account })
const signOut = HttpApiEndpoint.post("signOut", "/sign-out").annotate(MinRole, "viewer")

export class DashboardSession extends HttpApiGroup.make("session")
  .add(session, signOut, changePassword)
  .middleware(OperatorSession) {}
