import { MalformedPayload } from "../protobuf/malformed-payload.ts";
import type { Signal } from "../signal.ts";
import {
  another,
  checkDepth,
  closeBrace,
  closeBracket,
  expectColon,
  JsonMismatch,
  misfit,
  notJson,
  openBrace,
  openBracket,
  peek,
  quote,
  readText,
  scanString,
  skipNull,
  skipValue,
} from "./json-input.ts";
import type { JsonInput } from "./json-input.ts";
import { findField } from "./message-type.ts";
import type { Field, MessageType } from "./message-type.ts";
import { pathAt } from "./path-at.ts";
import { beginSized, createOutput, endSized, reserve, writeVarint32, written } from "../protobuf-output.ts";
import { writeScalar } from "./scalar.ts";
import type { Passage } from "./scalar.ts";
import { requestTypes } from "./schema.ts";

/** Steps over the key that comes next; the field that it names, or undefined where the message has none such. */
function readKey(input: JsonInput, type: MessageType): Field | undefined {
  if (peek(input) !== quote) throw notJson(input, "a key in double quotes is missing");
  const start = input.at;
  const end = scanString(input);
  if (end >= 0) return findField(type, input.bytes, start + 1, end - start - 1);
  input.at = start;
  const key = Buffer.from(readText(input));
  return findField(type, key, 0, key.length);
}

function writeOne(passage: Passage, field: Field, depth: number): void {
  const { out } = passage;
  reserve(out, 5);
  writeVarint32(out, field.tag);
  if (field.kind !== "message") {
    writeScalar(passage, field);
    return;
  }
  const start = beginSized(out);
  writeMessage(passage, field.type, depth);
  endSized(out, start);
}

function writeList(passage: Passage, field: Field, depth: number): void {
  const { input, out } = passage;
  if (peek(input) !== openBracket) throw misfit(input.at, "must be an array");
  input.at++;
  if (peek(input) === closeBracket) {
    input.at++;
    return;
  }
  if (field.kind === "message" || field.kind === "string") {
    do writeOne(passage, field, depth + 1);
    while (another(input, closeBracket));
    return;
  }
  reserve(out, 5);
  writeVarint32(out, field.tag);
  const start = beginSized(out);
  do writeScalar(passage, field);
  while (another(input, closeBracket));
  endSized(out, start);
}

/** Writes the fields of the object that comes next. */
function writeMessage(passage: Passage, type: MessageType, depth: number): void {
  const { input } = passage;
  if (peek(input) !== openBrace) throw misfit(input.at, "must be an object");
  checkDepth(input, depth);
  input.at++;
  if (peek(input) === closeBrace) {
    input.at++;
    return;
  }
  do {
    const field = readKey(input, type);
    expectColon(input);
    if (field === undefined) skipValue(input, depth + 1);
    else if (skipNull(input)) continue;
    else if (field.repeated) writeList(passage, field, depth + 1);
    else writeOne(passage, field, depth + 1);
  } while (another(input, closeBrace));
}

function transcodeText(input: JsonInput, type: MessageType): Buffer {
  const { bytes } = input;
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) input.at = 3;
  // Protobuf takes about half of JSON's room.
  const out = createOutput(bytes.length >> 1);
  writeMessage({ input, out, integer: { high: 0, low: 0, negative: false } }, type, 0);
  if (peek(input) !== -1) throw notJson(input, "there is text after the end of the object");
  return written(out);
}

/**
 * Turns an OTLP request in its JSON form into the same request in protobuf, in one pass and without objects in
 * between. Source: the OTLP specification, "JSON Protobuf Encoding", and protobuf's ProtoJSON.
 *
 * Names are taken in lowerCamelCase and in snake_case, integers as numbers or strings with all their 64 bits,
 * enums as numbers or names, ids as hex, bytes as base64. `null` is an absent field; unknown fields are ignored.
 * A key that comes twice means what it means in protobuf: lists are appended, of scalars the last one wins.
 *
 * Throws MalformedPayload, with the path to what is wrong.
 */
export function transcode(signal: Signal, json: Uint8Array): Buffer {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  const type = requestTypes[signal];
  try {
    return transcodeText({ bytes, at: 0 }, type);
  } catch (error) {
    if (!(error instanceof JsonMismatch)) throw error;
    if (error.at >= bytes.length) throw new MalformedPayload("The body is not valid JSON: the text ends too early.");
    if (!error.isJson) throw new MalformedPayload(`The body is not valid JSON: ${error.message} (byte ${error.at}).`);
    const path = pathAt(bytes, error.at);
    throw new MalformedPayload(`The body is not a valid ${type.name}: ${path === "" ? "it" : path} ${error.message}.`);
  }
}
