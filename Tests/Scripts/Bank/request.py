"""Sends a request to the service on this machine and prints its answer: the body, a space, and the status.

request.py PORT METHOD PATH [BODY]
"""
import http.client
import sys

connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
connection.request(*sys.argv[2:])
response = connection.getresponse()
print(response.read().decode(), response.status)
