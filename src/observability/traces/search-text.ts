/** Longest text that a search takes, in characters: a longer one is a paste by mistake. */
export const maxSearchLength = 2_000;
/** Most words of one search: each is a pass over the texts of the spans that the words before it left. */
const maxWords = 50;

/** The words and phrases of a search; `message` is a whole sentence that counts characters from 1. */
export type SearchText =
  | { readonly ok: true; readonly words: readonly string[] }
  | { readonly ok: false; readonly message: string };

/**
 * Reads the `query` of a search for traces: words separated by white space, and `"a phrase"`, in which `\"` and `\\`
 * stand for a quote and a backslash. Each is looked for as it is, anywhere in a text, without regard to case.
 */
export function parseSearchText(text: string): SearchText {
  const words: string[] = [];
  // A phrase, or a run without blanks and quotes; a quote that is left over opens a phrase that nothing closes.
  for (const match of text.matchAll(/"((?:[^"\\]|\\[^])*)"|[^\s"]+|"/g)) {
    if (match[0] === '"')
      return { ok: false, message: `The quote that opens at character ${match.index + 1} is not closed.` };
    const word = match[1]?.replace(/\\(["\\])/g, "$1") ?? match[0];
    if (word !== "") words.push(word);
  }
  if (words.length > maxWords) return { ok: false, message: `The query has more than ${maxWords} words.` };
  return { ok: true, words };
}
