import { createServer } from 'node:http';

/**
 * A badly behaved destination: `/alternate` answers 500 and 400 in turn, `/fail-half` answers 503 and 200 in turn, and
 * requests to any other path are never answered.
 */
const port = Number(process.argv[2]);
let requests = 0;

createServer((request, response) => {
  request.resume();
  const isHalf = request.url === '/fail-half';
  if (!isHalf && request.url !== '/alternate') return;
  request.on('end', () => {
    requests += 1;
    const odd = isHalf ? 503 : 500;
    response.writeHead(requests % 2 === 0 ? (isHalf ? 200 : 400) : odd).end();
  });
}).listen(port, '127.0.0.1', () => process.send?.('ready'));
