/** Bytes that are not the protobuf message that they should be. The message is a sentence for the sender. */
export class MalformedPayload extends Error {
  override readonly name = "MalformedPayload";
}
