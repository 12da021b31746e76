package m;

class NoTestsTest {
    void nothing() {}
}
