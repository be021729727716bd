/** The dashboard. When a session ends, a sign-in form hides the page. The page stays loaded behind the form. */
import { type ComponentType, h } from "preact"
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import { isAtLeast } from "../../pageApi/PageConstants.ts"
import type { Account } from "../../pageApi/OperatorsApi.ts"
import { Button } from "../shared/Button.tsx"
import { Dialog } from "../shared/Dialog.tsx"
import { AccountPage } from "./AccountPage.tsx"
import { AdjudicatePage } from "./AdjudicatePage.tsx"
import { AuditPage } from "./AuditPage.tsx"
import { ask, askSignedOut, whenSessionEnds } from "./client.ts"
import { DeliveryPage } from "./DeliveryPage.tsx"
import { DeveloperPage } from "./DeveloperPage.tsx"
import { ExpertPage } from "./ExpertPage.tsx"
import { ExpertsPage } from "./ExpertsPage.tsx"
import { GroupPage } from "./GroupPage.tsx"
import { Epoch, Now, Say, useAction, useClock, useRoute } from "./hooks.ts"
import { ItemsPage } from "./ItemsPage.tsx"
import { OperatorsPage } from "./OperatorsPage.tsx"
import { OverviewPage } from "./OverviewPage.tsx"
import { PageHeading, Problem } from "./parts.tsx"
import { Me, useMay } from "./role.tsx"
import { QueuePage } from "./QueuePage.tsx"
import { href, type Page, placeOf, type Route } from "./routes.ts"
import { Entrance, SetUp, SignIn, SignInForm } from "./SignIn.tsx"
import { TaskList } from "./TaskList.tsx"
import { TaskPage } from "./TaskPage.tsx"
import { problemWords } from "./wording.ts"

type Session =
  | { readonly state: "unknown" }
  | { readonly state: "unreachable"; readonly problem: string }
  | { readonly state: "signed-out" }
  | { readonly state: "signed-in"; readonly account: Account; readonly ended: boolean }

export const App = () => {
  const route = useRoute()
  const [session, setSession] = useState<Session>({ state: "unknown" })
  const [epoch, setEpoch] = useState(0)
  const [attempt, setAttempt] = useState(0)

  // On the page of a sign-in link, a session is not needed, so the page does not ask for one.
  const entering = route.page === "set-up"
  useEffect(() => {
    if (entering) return
    whenSessionEnds(() =>
      setSession((session) => (session.state === "signed-in" ? { ...session, ended: true } : { state: "signed-out" })),
    )
    let over = false
    const look = async () => {
      const answer = await askSignedOut("GET /session")
      if (over) return
      if (answer.ok) setSession({ state: "signed-in", account: answer.value, ended: false })
      else if (answer.problem.status === 401) setSession({ state: "signed-out" })
      else setSession({ state: "unreachable", problem: problemWords(answer.problem) })
    }
    void look()
    return () => {
      over = true
    }
  }, [attempt, entering])

  const signedIn = (account: Account) => {
    setSession({ state: "signed-in", account, ended: false })
    setEpoch((epoch) => epoch + 1)
  }

  if (route.page === "set-up") {
    const leave = () => {
      // An assignment to `location.hash` would leave the link's code in the browser's history.
      history.replaceState(null, "", href("overview"))
      dispatchEvent(new HashChangeEvent("hashchange"))
    }
    return (
      <SetUp
        key={route.id}
        code={route.id}
        onLeave={leave}
        onSignedIn={(account) => {
          signedIn(account)
          leave()
        }}
      />
    )
  }
  switch (session.state) {
    case "unknown":
      return <p class="muted late first">Loading …</p>
    case "unreachable":
      return (
        <Entrance title="The service does not answer">
          <Problem words={session.problem} />
          <Button look="primary" text="Try again" onClick={() => setAttempt(attempt + 1)} />
        </Entrance>
      )
    case "signed-out":
      return <SignIn onSignedIn={signedIn} />
    case "signed-in":
      return (
        <Epoch.Provider value={epoch}>
          <Me.Provider value={session.account}>
            <Shell route={route} account={session.account} onSignedOut={() => setSession({ state: "signed-out" })} />
          </Me.Provider>
          {session.ended && <Ended onSignedIn={signedIn} />}
        </Epoch.Provider>
      )
  }
}

const Ended = ({ onSignedIn }: { readonly onSignedIn: (account: Account) => void }) => (
  <Dialog title="Sign in again" class="opaque">
    <p class="muted">Your session has ended. The page and its contents come back after you sign in.</p>
    <SignInForm onSignedIn={onSignedIn} />
  </Dialog>
)

const menu: ReadonlyArray<
  readonly [
    label: string,
    page: "overview" | "tasks" | "items" | "queue" | "experts" | "operators" | "developer",
    ...subpages: ReadonlyArray<Page>,
  ]
> = [
  ["Overview", "overview"],
  ["Tasks", "tasks", "task", "group"],
  ["Items", "items", "adjudicate"],
  ["Queue", "queue"],
  ["Experts", "experts", "expert"],
  ["Operators", "operators", "audit"],
  ["Developer", "developer", "delivery"],
]

interface ShellProps {
  readonly route: Route
  readonly account: Account
  readonly onSignedOut: () => void
}

const Shell = ({ route, account: { name, role }, onSignedOut }: ShellProps) => {
  const now = useClock()
  const [announcement, setAnnouncement] = useState({ words: "", number: 0 })
  const say = useCallback((words: string) => setAnnouncement(({ number }) => ({ words, number: number + 1 })), [])
  const action = useAction()

  useEffect(() => {
    if (announcement.words === "") return
    const timer = setTimeout(() => setAnnouncement(({ number }) => ({ words: "", number })), 6000)
    return () => clearTimeout(timer)
  }, [announcement.number])

  // After a click on a link, the new view is shown from its top, and screen readers start at its heading.
  const place = placeOf(route)
  const before = useRef(place)
  useLayoutEffect(() => {
    if (before.current === place) return
    before.current = place
    say("")
    scrollTo(0, 0)
    document.querySelector("h1")?.focus({ preventScroll: true })
  }, [place])

  const links = menu.filter(([, page]) => adminTitles[page] === undefined || isAtLeast(role, "admin"))
  return (
    <Now.Provider value={now}>
      <Say.Provider value={say}>
        <a
          class="skip"
          href="#content"
          onClick={(event) => {
            event.preventDefault()
            document.querySelector("h1")?.focus()
          }}
        >
          Skip to the content
        </a>
        <header class="row top">
          <a class="brand" href={href("overview")}>
            prefstream
          </a>
          <nav aria-label="Main">
            {links.map(([label, page, ...subpages]) => (
              <a
                key={label}
                href={href(page)}
                aria-current={[page, ...subpages].some((each) => each === route.page) ? "page" : undefined}
              >
                {label}
              </a>
            ))}
          </nav>
          <div class="who">
            <a href={href("account")} aria-current={route.page === "account" ? "page" : undefined}>
              <span class="unseen">Your account: </span>
              <bdi>{name}</bdi>
            </a>
            <Button
              look="plain compact"
              text="Sign out"
              busy={action.busy}
              onClick={() => void action.run(() => ask("POST /sign-out"), onSignedOut)}
            />
          </div>
        </header>
        <main id="content" class="stack">
          <Problem words={action.problem} />
          <View route={route} />
        </main>
        <div class="said" role="status">
          {announcement.words !== "" && <p key={announcement.number}>{announcement.words}</p>}
        </div>
      </Say.Provider>
    </Now.Provider>
  )
}

const adminTitles: Readonly<Partial<Record<Route["page"], string>>> = {
  operators: "Operators",
  audit: "Audit log",
  developer: "Developer settings",
  delivery: "Delivery",
}

const views: Readonly<Record<Page, ComponentType<Route>>> = {
  overview: OverviewPage,
  tasks: TaskList,
  task: TaskPage,
  group: GroupPage,
  items: ItemsPage,
  adjudicate: AdjudicatePage,
  queue: QueuePage,
  experts: ExpertsPage,
  expert: ExpertPage,
  operators: OperatorsPage,
  audit: AuditPage,
  account: AccountPage,
  developer: DeveloperPage,
  delivery: DeliveryPage,
}

const View = ({ route }: { readonly route: Route }) => {
  const isAdmin = useMay("admin")
  const adminTitle = adminTitles[route.page]
  if (adminTitle !== undefined && !isAdmin) {
    return (
      <>
        <PageHeading title={adminTitle} />
        <p>Only admins can see this page.</p>
      </>
    )
  }
  if (route.page !== "unknown" && route.page !== "set-up") return h(views[route.page], { key: route.id, ...route })
  return (
    <>
      <PageHeading title="Page not found" />
      <p>
        This address has no page. <a href={href("overview")}>Go to the overview</a>
      </p>
    </>
  )
}
