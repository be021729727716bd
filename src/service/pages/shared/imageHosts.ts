/** The hosts whose images the page may load, as the service wrote them into the page (see `web/Pages`). */
export const imageHosts: ReadonlyArray<string> = (
  document.querySelector<HTMLMetaElement>("meta[name=image-hosts]")?.content ?? ""
)
  .split(" ")
  .filter((host) => host !== "")
