import { loadUws } from '../../gateway/http/uws.ts';

/** uWebSockets.js that only reads the body and responds: the upper limit of any gateway built on it. */
const port = Number(process.argv[2]);
const { uws } = loadUws();
const answer = '{"success":true}';

uws
  .App()
  .post('/api/v1/track', (response) => {
    let aborted = false;
    response.onAborted(() => {
      aborted = true;
    });
    response.onData((_chunk, isLast) => {
      if (!isLast || aborted) return;
      response.cork(() => {
        response.writeHeader('content-type', 'application/json').end(answer);
      });
    });
  })
  .listen('127.0.0.1', port, (socket) => {
    if (socket === false) throw new Error(`listening on ${port} failed`);
    process.send?.('ready');
  });
