/** The dashboard's requests about operators. */
import type { OperatorLink, OperatorSummary } from "../../pageApi/OperatorsApi.ts"
import { get, post, put, remove as ask } from "./client.ts"
import type { Role } from "./role.tsx"

export const list = () => get<{ readonly operators: ReadonlyArray<OperatorSummary> }>("/operators")
export const add = (name: string, role: Role) => post<OperatorLink>("/operators", { name, role })
export const renew = ({ operator_no }: OperatorSummary) => post<OperatorLink>(`/operators/${operator_no}/link`)
export const setRole = ({ operator_no }: OperatorSummary, role: Role) =>
  put<OperatorSummary>(`/operators/${operator_no}/role`, { role })
export const remove = ({ operator_no }: OperatorSummary) => ask<void>(`/operators/${operator_no}`)
export const changePassword = (current: string, password: string) => put<void>("/password", { current, password })
