/** One event's JSON within the body it came in: body[start, end). Made once a request and set anew for each of its events. */
export class EventSlice {
  readonly body: Buffer;
  start = 0;
  end: number;

  constructor(body: Buffer) {
    this.body = body;
    this.end = body.length;
  }

  get length(): number {
    return this.end - this.start;
  }
}
