/**
 * Whether nobody between this machine and the server of a URL can read a request. Only then may a request have
 * credentials.
 */
export const isPrivate = ({ hostname, protocol }: URL): boolean =>
  protocol === "https:" || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
