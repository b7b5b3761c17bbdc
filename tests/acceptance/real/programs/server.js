// SPDX-License-Identifier: MIT
// A server of HTTP that computes in its event loop now and then.
'use strict';
const http = require('http');

const isBroken = !process.argv.includes('--healthy');

function fib(n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

function report() {
  return isBroken ? fib(30) : fib(2);
}

let n = 0;
http
  .createServer((request, response) => {
    n += 1;
    response.end(String(n % 60 === 0 ? report() : n));
  })
  .listen(8092, '127.0.0.1');
