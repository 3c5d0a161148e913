// Requests to this server: JSON in and out, failures as errors with the message that the server gives.

export class Failure extends Error {
  constructor(status, message, where) {
    super(message);
    this.status = status;
    this.where = where;
  }
}

export const get = (path, options = {}) => request(path, { ...options, method: "GET" });

export const post = (path, body, options = {}) =>
  request(path, {
    ...options,
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

async function request(path, options) {
  let response;
  try {
    response = await fetch(path, { ...options, credentials: "same-origin" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure(0, "The server does not answer. Is it still running?");
  }
  const fields = await response.json().catch(() => ({}));
  if (!response.ok) throw new Failure(response.status, fields.error ?? `the server answers ${response.status}`, fields.where);
  return fields;
}
