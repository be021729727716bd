/** The dashboard's requests about the audit log. */
import type { AuditPage } from "../../pageApi/AuditApi.ts"
import { get, page } from "./client.ts"

export interface AuditFilter {
  readonly actor: string | undefined
  readonly action: string | undefined
}

export const list = (filter: AuditFilter, before: number | undefined) =>
  get<AuditPage>(`/audit${page(50, before, { ...filter })}`)

/** The address of the file with all entries that match. */
export const exportHref = (filter: AuditFilter): string => {
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(filter)) if (typeof value === "string") query.set(key, value)
  return `/dashboard/api/audit/export${query.size === 0 ? "" : `?${query.toString()}`}`
}
