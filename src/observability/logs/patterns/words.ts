/** What stands for a variable in masked texts and in templates. */
export const variable = "<*>";

/** A masked text, taken apart. */
export interface Text {
  readonly words: readonly string[];
  /** What stands before, between and after the words: one more than there are words. */
  readonly shape: readonly string[];
}

/** Dots in a row, as between a name and its value, separate words. */
const wordPattern = /(?:(?!\.\.|(?<=\.)\.)[^\s=:,;()[\]{}<>"'|`]|<\*>)+/g;

export function takeApart(text: string): Text {
  const words: string[] = [];
  const shape: string[] = [];
  let end = 0;
  for (const match of text.matchAll(wordPattern)) {
    words.push(match[0]);
    shape.push(text.slice(end, match.index));
    end = match.index + match[0].length;
  }
  shape.push(text.slice(end));
  return { words, shape };
}

export function putTogether({ words, shape }: Text): string {
  let text = shape[0] ?? "";
  for (const [i, word] of words.entries()) text += word + (shape[i + 1] ?? "");
  return text;
}

/** Whether a word is text of the program, at least in part. */
export function isLiteral(word: string): boolean {
  return word !== variable && /\p{L}/u.test(word);
}

/** Whether a word is put together as names of classes, hosts and files are, which differ by what is named. */
export function isName(word: string): boolean {
  return /\w[./@$\\]\w/.test(word);
}
