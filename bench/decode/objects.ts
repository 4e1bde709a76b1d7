import protobuf from "protobufjs";

const keyValues = (id: number) => ({ rule: "repeated", type: "KeyValue", id });
const many = (type: string, id: number) => ({ rule: "repeated", type, id });
const fields = (...list: readonly (readonly [string, string, number])[]) =>
  Object.fromEntries(list.map(([name, type, id]) => [name, { type, id }]));

const otlp = protobuf.Root.fromJSON({
  nested: {
    Request: { fields: { resourceSpans: many("ResourceSpans", 1) } },
    ResourceSpans: {
      fields: {
        resource: { type: "Resource", id: 1 },
        scopeSpans: many("ScopeSpans", 2),
        schemaUrl: { type: "string", id: 3 },
      },
    },
    Resource: { fields: { attributes: keyValues(1), droppedAttributesCount: { type: "uint32", id: 2 } } },
    ScopeSpans: {
      fields: { scope: { type: "Scope", id: 1 }, spans: many("Span", 2), schemaUrl: { type: "string", id: 3 } },
    },
    Scope: { fields: { ...fields(["name", "string", 1], ["version", "string", 2]), attributes: keyValues(3) } },
    Span: {
      fields: {
        ...fields(
          ["traceId", "bytes", 1],
          ["spanId", "bytes", 2],
          ["traceState", "string", 3],
          ["parentSpanId", "bytes", 4],
          ["name", "string", 5],
          ["kind", "int32", 6],
          ["startTimeUnixNano", "fixed64", 7],
          ["endTimeUnixNano", "fixed64", 8],
          ["droppedAttributesCount", "uint32", 10],
          ["droppedEventsCount", "uint32", 12],
          ["droppedLinksCount", "uint32", 14],
          ["status", "Status", 15],
          ["flags", "fixed32", 16],
        ),
        attributes: keyValues(9),
        events: many("Event", 11),
        links: many("Link", 13),
      },
    },
    Event: { fields: { ...fields(["timeUnixNano", "fixed64", 1], ["name", "string", 2]), attributes: keyValues(3) } },
    Link: { fields: { ...fields(["traceId", "bytes", 1], ["spanId", "bytes", 2]), attributes: keyValues(4) } },
    Status: { fields: fields(["message", "string", 2], ["code", "int32", 3]) },
    KeyValue: { fields: fields(["key", "string", 1], ["value", "AnyValue", 2]) },
    AnyValue: {
      oneofs: {
        value: {
          oneof: ["stringValue", "boolValue", "intValue", "doubleValue", "arrayValue", "kvlistValue", "bytesValue"],
        },
      },
      fields: fields(
        ["stringValue", "string", 1],
        ["boolValue", "bool", 2],
        ["intValue", "int64", 3],
        ["doubleValue", "double", 4],
        ["arrayValue", "ArrayValue", 5],
        ["kvlistValue", "KeyValueList", 6],
        ["bytesValue", "bytes", 7],
      ),
    },
    ArrayValue: { fields: { values: many("AnyValue", 1) } },
    KeyValueList: { fields: { values: keyValues(1) } },
  },
});

const request = otlp.lookupType("Request");

/** Decodes a request into objects with protobufjs's generated code, and no further. Returns the number of spans. */
export function decodeToObjects(bytes: Uint8Array): number {
  const { resourceSpans } = request.decode(bytes) as unknown as {
    resourceSpans: { scopeSpans: { spans: unknown[] }[] }[];
  };
  return resourceSpans.reduce(
    (sum, { scopeSpans }) => sum + scopeSpans.reduce((n, { spans }) => n + spans.length, 0),
    0,
  );
}
