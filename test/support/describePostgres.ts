/** Tests against PostgreSQL. */
import { afterAll, beforeAll, describe } from "@effect/vitest"
import { notInstalled, Server } from "./postgres.ts"

/** A block of tests with a server of their own; skipped where PostgreSQL is not installed. */
export const describePostgres = (name: string, tests: (server: Server) => void) =>
  // oxlint-disable-next-line vitest/valid-title -- the title of the block is that of the caller
  describe.skipIf(notInstalled)(name, () => {
    const server = new Server()
    beforeAll(async () => void (await server.prepare()))
    afterAll(() => server.close())
    tests(server)
  })
