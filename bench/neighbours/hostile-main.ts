import { createServer } from 'node:http';

/** Plays a bad destination: `/alternate` refuses for good and for now in turn, and everything else never answers. */
const port = Number(process.argv[2]);
let requests = 0;

createServer((request, response) => {
  request.resume();
  if (request.url !== '/alternate') return;
  request.on('end', () => {
    requests += 1;
    response.writeHead(requests % 2 === 0 ? 400 : 500).end();
  });
}).listen(port, '127.0.0.1', () => process.send?.('ready'));
