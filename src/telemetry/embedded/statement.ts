/** What the HTTP interface must know of a statement before the engine may see it. */
export interface Statement {
  /** The first word in capitals: SELECT, INSERT, ALTER … */
  readonly verb: string;
  /** Something other than blanks and comments follows a semicolon. */
  readonly several: boolean;
  /** Names of the `{name:Type}` placeholders. */
  readonly placeholders: ReadonlySet<string>;
  /** An INSERT whose rows come in a FORMAT of their own, beside the SQL or behind it. */
  readonly data?: DataInsert;
}

interface DataInsert {
  /** The statement with `source` (as `FROM INFILE '…'`) where the rows come from. */
  from(source: string): string;
  /** Rows follow in the SQL text itself. */
  readonly inline: boolean;
}

const quotes: Readonly<Record<string, string>> = { "'": "'", '"': '"', "`": "`", "‘": "’", "“": "”" };
const word = /[\p{L}_][\p{L}\p{N}_]*/uy;
const placeholder = /\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*:/y;
const heredoc = /\$[A-Za-z0-9_]*\$/y;
const blanks = /\s+/y;
/** `#` begins a comment only before a blank or an exclamation mark. */
const lineComment = /(?:--|#[ !])[^\n]*/y;

/**
 * Reads SQL as ClickHouse's lexer does (quotes with both escapes, heredocs, nested comments), as far as is needed to
 * tell one statement from several. The embedded engine would run several and, in an INSERT with inline rows, takes
 * what follows a blank line for another statement; a server does neither.
 */
export function readStatement(sql: string): Statement {
  const placeholders = new Set<string>();
  let verb = "";
  let several = false;
  let ended = false;
  let depth = 0;
  let rowsFromSql = false;
  let sourceAt: number | undefined;

  let at = 0;
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(sql);
    if (found) at = pattern.lastIndex;
    return found;
  };

  while (at < sql.length) {
    if (match(blanks) || match(lineComment)) continue;
    if (sql.startsWith("/*", at)) {
      at = endOfComment(sql, at);
      continue;
    }
    if (ended) {
      several = true;
      break;
    }
    const char = sql[at]!;
    const closing = quotes[char];
    if (closing) {
      at = endOfQuoted(sql, at + 1, closing);
      continue;
    }
    const tag = char === "$" ? match(heredoc)?.[0] : undefined;
    if (tag) {
      const end = sql.indexOf(tag, at);
      at = end < 0 ? sql.length : end + tag.length;
      continue;
    }
    const named = char === "{" ? match(placeholder)?.[1] : undefined;
    if (named !== undefined) {
      placeholders.add(named);
      depth++;
      continue;
    }
    const begin = at;
    const text = match(word)?.[0].toUpperCase();
    if (text === undefined) {
      if (char === ";") ended = true;
      else if ("([{".includes(char)) depth++;
      else if (")]}".includes(char)) depth--;
      at++;
      continue;
    }
    if (verb === "" || (verb === "WITH" && text === "INSERT" && depth === 0)) verb = text;
    if (verb !== "INSERT" || depth !== 0 || rowsFromSql) continue;
    if (text === "SELECT" || text === "WITH" || text === "VALUES" || text === "WATCH" || text === "INFILE") {
      rowsFromSql = true;
    } else if (text === "SETTINGS") {
      // The engine wants the file before the settings.
      sourceAt ??= begin;
    } else if (text === "FORMAT") {
      const format = skipTo(word);
      if (format === undefined) continue;
      const split = sourceAt ?? begin;
      const head = sql.slice(0, at);
      return {
        verb,
        several: false,
        placeholders,
        data: {
          from: (source) => `${head.slice(0, split)}${source} ${head.slice(split)}`,
          inline: !/^[\s;]*$/.test(sql.slice(at)),
        },
      };
    }
  }
  return { verb, several, placeholders };

  function skipTo(pattern: RegExp): string | undefined {
    match(blanks);
    return match(pattern)?.[0];
  }
}

/** Where the quoted text that begins at `at` ends: a backslash and a doubled quote escape. */
function endOfQuoted(sql: string, at: number, closing: string): number {
  while (at < sql.length) {
    if (sql[at] === "\\") at += 2;
    else if (sql[at] !== closing) at++;
    else if (sql[at + 1] === closing) at += 2;
    else return at + 1;
  }
  return sql.length;
}

function endOfComment(sql: string, at: number): number {
  let depth = 0;
  while (at < sql.length) {
    if (sql.startsWith("/*", at)) {
      depth++;
      at += 2;
    } else if (sql.startsWith("*/", at)) {
      depth--;
      at += 2;
      if (depth === 0) return at;
    } else at++;
  }
  return sql.length;
}

/** `text` as a literal of ClickHouse SQL. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll("\0", "\\0")}'`;
}
