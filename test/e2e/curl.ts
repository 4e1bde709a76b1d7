/** What a curl line of the documentation asks for. */
export interface CurlRequest {
  readonly url: string;
  readonly init: RequestInit;
}

/**
 * Reads a line such as `curl -sG 'http://…' --data-urlencode 'query=x' -H 'a: b'` as a shell and curl would, as far as
 * the documentation uses them. Throws on everything else, so that no line goes unread.
 */
export function readCurl(line: string): CurlRequest {
  const [command, ...words] = shellWords(line);
  if (command !== "curl") throw new Error(`not a curl line: ${line}`);
  const headers: Record<string, string> = {};
  const data: string[] = [];
  let url: URL | undefined;
  let method: string | undefined;
  let inUrl = false;
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    const value = () => words[++i] ?? fail(line);
    if (/^-[sSGiN]+$/.test(word)) inUrl ||= word.includes("G");
    else if (word === "-X") method = value();
    else if (word === "-H") {
      const [, name, text] = /^([^:]+):\s*(.*)$/.exec(value()) ?? fail(line);
      headers[name!] = text!;
    } else if (word === "-d" || word === "--json") {
      if (word === "--json") headers["content-type"] = "application/json";
      data.push(value());
    } else if (word === "--data-urlencode") {
      const [, name, text] = /^([^=]+)=(.*)$/s.exec(value()) ?? fail(line);
      data.push(`${name}=${encodeURIComponent(text!)}`);
    } else if (/^https?:/.test(word)) url = new URL(word);
    else fail(line);
  }
  if (!url) return fail(line);
  if (inUrl) url.search = data.splice(0).join("&");
  const body = data.length > 0 ? data.join("&") : undefined;
  return { url: url.href, init: { method: method ?? (body === undefined ? "GET" : "POST"), headers, body } };
}

function fail(line: string): never {
  throw new Error(`the documentation's test does not understand: ${line}`);
}

/** Words of a POSIX shell's command without expansions: quotes of both kinds, backslashes, continued lines. */
function shellWords(line: string): string[] {
  const words: string[] = [];
  const part = /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\([^])|([^\s'"\\]+)|(\s+)/gy;
  let word: string | undefined;
  for (const match of line.trim().replaceAll("\\\n", " ").matchAll(part)) {
    if (match[5] !== undefined) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? "") + (match[1] ?? match[2]?.replace(/\\(["\\$`])/g, "$1") ?? match[3] ?? match[4]!);
    }
  }
  if (word !== undefined) words.push(word);
  return words;
}
