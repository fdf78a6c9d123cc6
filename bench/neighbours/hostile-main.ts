import { createServer } from 'node:http';

/**
 * Acts as a bad destination: `/alternate` answers 400 and 500 in turn, `/fail-half` accepts every other request and
 * fails the rest, and all other paths never answer.
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
