/** The path of a request target, without query string; of the absolute form too. As it was sent: still encoded. */
export function requestPath(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, "").replace(/[?#].*$/s, "");
  return path === "" ? "/" : path;
}

/** `path` as a valid URI reference, for `instance`: what may not be in one is percent-encoded. */
export function uriReference(path: string): string {
  return path.replace(/%(?![0-9a-f]{2})|[^\x21-\x7e]|["<>\\^`{|}]/gi, (character) =>
    character === "%" ? "%25" : encodeURIComponent(character.toWellFormed()),
  );
}
