/** Types of an `HttpApi`'s requests, by keys such as `GET /tasks/:task_id`. Pages use them without loading Effect. */
import type { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"

type EndpointOf<Api> = Api extends HttpApi.HttpApi<infer _Id, infer Groups> ? HttpApiGroup.Endpoints<Groups> : never

type TypeOf<S> = S extends { readonly Type: infer A } ? A : never

/** `{ [Name]: … }`, or `unknown` if the endpoint has no such member. */
type Member<Name extends string, S> = [S] extends [never] ? unknown : { readonly [name in Name]: TypeOf<S> }

type Query<A> = { readonly [K in keyof A]: A[K] | (object extends Pick<A, K> ? undefined : never) }

type QueryMember<S> = [S] extends [never]
  ? unknown
  : object extends TypeOf<S>
    ? { readonly query?: Query<TypeOf<S>> }
    : { readonly query: Query<TypeOf<S>> }

interface Endpoint {
  readonly method: string
  readonly path: string
}

export type Requests<Api, Prefix extends string> = {
  [
    E in EndpointOf<Api> as E extends Endpoint
      ? E["path"] extends `${Prefix}${infer Path}`
        ? `${E["method"]} ${Path}`
        : never
      : never
  ]: {
    readonly input: Member<"params", HttpApiEndpoint.Params<E>> &
      QueryMember<HttpApiEndpoint.Query<E>> &
      Member<"payload", HttpApiEndpoint.Payload<E>>
    readonly answer: TypeOf<HttpApiEndpoint.Success<E>>
  }
}
