// The OpenAI protocol's chat completions, with calls of tools, on a small model that runs here: node server.mjs MODEL.gguf
// Prints its address once it listens. One request at a time, one thread, deterministic at temperature 0.
import http from "node:http";
import { getLlama, LlamaChatSession } from "node-llama-cpp";

const CONTEXT = 4096;
const LONGEST = 256;
const TEXT = { type: "string", maxLength: 120 }; // so small a model would else repeat itself in a call until it is cut off
const llama = await getLlama({ gpu: false, build: "never", skipDownload: true, logLevel: "error" });
const model = await llama.loadModel({ modelPath: process.argv[2] });
const context = await model.createContext({ contextSize: CONTEXT, threads: 1 });
const sequence = context.getSequence();
let last = Promise.resolve();

class TooLong extends Error {}

/** The tools that the model may call now: none for a request without tools or with tool_choice "none". */
function offered(request) {
  return request.tool_choice === "none" ? [] : (request.tools ?? []).map((one) => one.function);
}

/** A call of an offered tool; or, once a tool has given its result, a reply instead. */
function step(tools, messages) {
  const object = (properties) => ({ type: "object", properties });
  const bounded = ([name, schema]) => [name, schema.type === "string" ? TEXT : schema];
  const calls = tools.map(({ name, parameters }) => {
    const values = Object.fromEntries(Object.entries(parameters.properties).map(bounded));
    return object({ tool: { const: name }, arguments: object(values) });
  });
  const mayReply = messages.at(-1).role === "tool";
  return { oneOf: mayReply ? [...calls, object({ reply: TEXT })] : calls };
}

/** The conversation as one turn: the model was trained on no role for tools. */
function asTurn(message) {
  if (message.role === "tool") return `Result of the tool:\n${message.content}`;
  const calls = (message.tool_calls ?? []).map((one) => `Called: ${JSON.stringify(one.function)}`);
  return [message.content, ...calls].filter(Boolean).join("\n");
}

/** The message of what the model wrote: its text, a call, or a reply; the text as it is where it was cut off. */
function asMessage(text, tools, isCut) {
  const written = tools.length && !isCut ? JSON.parse(text) : { reply: text };
  if (written.tool === undefined) return { role: "assistant", content: written.reply };
  const call = { name: written.tool, arguments: JSON.stringify(written.arguments) };
  const id = `call_${crypto.randomUUID()}`;
  return { role: "assistant", content: null, tool_calls: [{ index: 0, id, type: "function", function: call }] };
}

async function complete(request, onText, signal) {
  const tools = offered(request);
  const system = request.messages.filter((one) => one.role === "system").map((one) => one.content);
  const how = ['Call a tool with {"tool": …, "arguments": …}, or answer with {"reply": …}. The tools:', ...tools.map((one) => JSON.stringify(one))];
  const systemPrompt = [...system, ...(tools.length ? how : [])].join("\n");
  const prompt = request.messages.filter((one) => one.role !== "system").map(asTurn).join("\n\n");
  const schema = tools.length ? step(tools, request.messages) : request.response_format?.json_schema?.schema;
  const grammar = schema ? await llama.createGrammarForJsonSchema(schema) : undefined;
  const longest = Math.min(request.max_tokens ?? request.max_completion_tokens ?? LONGEST, LONGEST);
  if (model.tokenize(systemPrompt + prompt).length > CONTEXT - longest - 128) throw new TooLong("the prompt is too long");
  const session = new LlamaChatSession({ contextSequence: sequence, systemPrompt });
  const before = sequence.tokenMeter.getState();
  try {
    const { responseText, stopReason } = await session.promptWithMeta(prompt, {
      grammar, signal, maxTokens: longest, temperature: request.temperature ?? 0,
      onTextChunk: tools.length ? undefined : onText, // a call comes whole, at the end
    });
    const isCut = stopReason === "maxTokens";
    const message = asMessage(responseText, tools, isCut);
    const used = sequence.tokenMeter.diff(before);
    return {
      message,
      finish: isCut ? "length" : message.tool_calls ? "tool_calls" : "stop",
      usage: {
        prompt_tokens: used.usedInputTokens,
        completion_tokens: used.usedOutputTokens,
        total_tokens: used.usedInputTokens + used.usedOutputTokens,
      },
    };
  } finally {
    session.dispose();
    await sequence.clearHistory();
  }
}

const server = http.createServer(async (incoming, outgoing) => {
  let body = "";
  for await (const part of incoming) body += part;
  const refuse = (status, message) => {
    outgoing.writeHead(status, { "content-type": "application/json" });
    outgoing.end(JSON.stringify({ error: { message, type: "invalid_request_error" } }));
  };
  if (incoming.method !== "POST" || incoming.url !== "/v1/chat/completions") return refuse(404, "no such path");
  const request = JSON.parse(body);
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort());
  const head = { id: "small", created: 0, model: "smollm2-135m-instruct" };
  const event = (choices, more = {}) =>
    outgoing.write(`data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices, ...more })}\n\n`);
  if (request.stream) outgoing.writeHead(200, { "content-type": "text/event-stream" });
  const onText = request.stream
    ? (content) => event([{ index: 0, delta: { role: "assistant", content }, finish_reason: null }])
    : undefined;
  const mine = last.then(() => (gone.signal.aborted ? null : complete(request, onText, gone.signal)));
  last = mine.catch(() => null);
  try {
    const done = await mine;
    if (done === null) return;
    if (request.stream) {
      event([{ index: 0, delta: offered(request).length ? done.message : {}, finish_reason: done.finish }]);
      event([], { usage: done.usage });
      outgoing.end("data: [DONE]\n\n");
      return;
    }
    outgoing.writeHead(200, { "content-type": "application/json" });
    outgoing.end(JSON.stringify({
      ...head, object: "chat.completion", usage: done.usage,
      choices: [{ index: 0, message: done.message, finish_reason: done.finish }],
    }));
  } catch (error) {
    if (outgoing.headersSent) outgoing.destroy();
    else refuse(error instanceof TooLong ? 400 : 500, String(error.message ?? error));
  }
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/v1`));
